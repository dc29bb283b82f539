// Durations in classes: the buckets of the histograms of waits and runs.
export const spanBoundsMs = [10, 50, 100, 500, 1000, 5000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000] as const

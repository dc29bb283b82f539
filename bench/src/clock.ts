/** Milliseconds of a monotonic clock that all processes of the machine share. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

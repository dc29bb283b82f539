// Seed: the first key, where there is none.
export interface SeedRequest {
  readonly namespace?: string
  readonly kid: string
  /** Exactly 64 hex digits. */
  readonly secret: string
}

export type SeedResult =
  | { readonly kind: 'seeded'; readonly kid: string }
  | { readonly kind: 'already_seeded'; readonly kid: string; readonly hasSameSecret: boolean }

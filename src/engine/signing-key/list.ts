// The keys that verify; never their secrets.
export interface ListSigningKeysRequest {
  readonly namespace?: string
}

export interface ListedSigningKey {
  /** Null for those that namespaces share. */
  readonly namespace: string | null
  readonly kid: string
  readonly isActive: boolean
  readonly createdAt: number
  readonly expiresAt: number | null
}

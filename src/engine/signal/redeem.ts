// Redeem: the one use of an approval link.
export interface RedeemRequest {
  /** The signed part of the link. */
  readonly link: string
  readonly payload?: Uint8Array
  readonly payloadEncoding?: string
}

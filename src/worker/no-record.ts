/**
 * Thrown while a recorded run is replayed, in place of anything that has no record. Code that awaits it never continues, and does
 * not keep the run from being idle.
 */
export class NoRecord extends Error {
  override readonly name = 'NoRecord'
}

/**
 * Bytes, as a name of its own: where the compiler infers `Uint8Array`, it writes the type argument that this class has in its own
 * libraries into the published types, and compilers before 5.7 refuse that.
 */
export interface Bytes extends Uint8Array {}

/** The version of this package; a test compares it with package.json, which a bundler would not let us read. */
export const codeVersion = '0.1.0'

/** Of this package; a test holds it equal to package.json, which a bundler would not let us read. */
export const codeVersion = '0.1.0'

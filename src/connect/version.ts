import { createRequire } from 'node:module'

/** Read from the package itself, so that it cannot be forgotten at a release. */
export const codeVersion: string = (createRequire(import.meta.url)('flowfabric/package.json') as { version: string }).version

import { text as foundation } from './0001-foundation.ts'
import type { Migration } from './migration.ts'

/** In order, from version 1, without gaps. Their texts are the .sql files of this folder; after a change run `npm run schema`. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'foundation', oldestCode: '0.1.0', transactional: true, text: foundation },
]

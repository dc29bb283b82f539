import { foundation } from './0001-foundation.ts'
import type { Migration } from './migration.ts'

/** In order, from version 1, without gaps. */
export const migrations: readonly Migration[] = [foundation]

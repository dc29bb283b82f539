// Runs before the tests of a file, so the start of a database does not count as a test's time.
import { beforeAll } from 'vitest'
import { prepareEmbedded } from './fresh-embedded.ts'

beforeAll(() => prepareEmbedded())

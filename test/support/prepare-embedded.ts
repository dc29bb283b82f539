// Before the tests of a file, so that the start of a database does not count as a test's time.
import { beforeAll } from 'vitest'
import { prepareEmbedded } from './fresh-embedded.ts'

beforeAll(() => prepareEmbedded())

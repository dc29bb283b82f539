import { expect, test } from 'vitest'
import { calledAs } from '../../src/cli/called-as.ts'

test.each([
  ['/home/ada/flowfabric/src/cli/main.ts', '/home/ada/flowfabric', 'npx tsx src/cli/main.ts'],
  ['/home/ada/app/node_modules/.bin/flowfabric', '/home/ada/app', 'npx flowfabric'],
  ['/home/ada/app/node_modules/flowfabric/dist/cli/main.js', '/home/ada/app', 'npx flowfabric'],
  ['/usr/local/bin/flowfabric', '/home/ada/app', 'flowfabric'],
])('%s in %s is typed as %s', (script, folder, typed) => {
  expect(calledAs(script, folder)).toBe(typed)
})

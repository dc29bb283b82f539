// npm run test:quick
//
// The tests for daily work: pure code, and the engine on the embedded database, except the files in
// `test/support/quick.ts`. `npm test` runs everything else.
import { spawn } from 'node:child_process'

const options = ['vitest', 'run', '--project', 'unit', '--project', 'embedded', ...process.argv.slice(2)]
const vitest = spawn('npx', options, { stdio: 'inherit', env: { ...process.env, TEST_QUICK: '1' } })
vitest.on('exit', (code) => {
  process.exitCode = code ?? 1
})

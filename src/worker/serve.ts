// The tasks of a worker, by kind and version. A claim names kinds and versions, and matches every pair of them. So tasks with different
// versions are claimed separately, and the worker never claims an execution that it cannot run.
import type { Claim } from '../engine/execution/claim.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Task } from './task.ts'

export interface TaskGroup {
  readonly kinds: readonly string[]
  readonly versions: readonly string[]
}

export class ServedTasks {
  readonly #tasks = new Map<string, Task[]>()

  constructor(tasks: unknown) {
    if (!Array.isArray(tasks) || tasks.length === 0)
      throw refusal('invalid_input', 'tasks', show(tasks), 'one task or more')
    for (const task of tasks as unknown[]) this.#add(task)
  }

  #add(given: unknown): void {
    const isTask = typeof given === 'object' && given !== null && 'handler' in given && 'policy' in given
    if (!isTask) throw refusal('invalid_input', 'tasks', `a list with ${show(given)}`, 'a list of what task() returned')
    const task = given as Task
    const others = this.#tasks.get(task.name) ?? []
    if (others.some((other) => other.version === task.version)) {
      const version = task.version === null ? 'without a version' : `of version ${show(task.version)}`
      const sentence = `there are two tasks ${show(task.name)} ${version}; give one of them another name or version`
      throw new EngineError('invalid_input', sentence, { field: 'tasks', task: task.name })
    }
    this.#tasks.set(task.name, [...others, task])
  }

  get tasks(): readonly Task[] {
    return [...this.#tasks.values()].flat()
  }

  get lanes(): readonly string[] {
    return [...new Set([...this.#tasks.values()].flat().map((task) => task.lane))]
  }

  get groups(): readonly TaskGroup[] {
    const groups = new Map<string, { kinds: string[]; versions: readonly string[] }>()
    for (const [kind, tasks] of this.#tasks) {
      const versions = tasks.flatMap(({ version }) => (version === null ? [] : [version])).toSorted()
      const key = JSON.stringify(versions)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { kinds: [kind], versions })
      else group.kinds.push(kind)
    }
    return [...groups.values()]
  }

  /** An execution without a version is run by the task without one, else by the task of that kind that was listed last. */
  taskFor({ kind, version }: Claim): Task | undefined {
    const tasks = this.#tasks.get(kind) ?? []
    const exact = tasks.find((task) => task.version === version)
    return exact ?? (version === null ? tasks.at(-1) : undefined)
  }
}

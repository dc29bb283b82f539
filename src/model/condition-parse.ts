// Checks a condition by itself: its form, its depth, and that no node is empty or out of reach. `checkBinding` checks
// it against its suspension.
import { countedThings, conditionKinds, memberPath, rootPath } from './condition.ts'
import type {
  ChildCondition,
  Condition,
  CountCondition,
  CountedThing,
  NodePath,
  SignalCondition,
  TimeCondition,
} from './condition.ts'
import { impossible } from './condition-fault.ts'
import { refusal } from './errors.ts'
import { formatExecutionId, parseExecutionId } from './id.ts'
import { limits } from './limits.ts'
import { parsePredicate } from './predicate-parse.ts'
import { ownFields, readShape } from './shape.ts'
import type { Read, Reader, Shape } from './shape.ts'
import { checkSignalName, checkSourceText, checkWaitpointKey, sourceTypes } from './signal.ts'
import type { SignalSource, SourceType } from './signal.ts'
import { oneOf, show } from './text.ts'

const code = 'invalid_condition'

/** A copy in canonical form: its JSON parses to the same condition. */
export function parseCondition(value: unknown): Condition {
  const condition = parseNode(rootPath, value, 0)
  const bytes = Buffer.byteLength(JSON.stringify(condition))
  if (bytes <= limits.conditionBytes) return condition
  throw refusal(code, 'condition', `${bytes} bytes of JSON`, `at most ${limits.conditionBytes}`)
}

/** `depth` is that of the composite around the node; a count is a composite too. */
function parseNode(path: NodePath, value: unknown, depth: number): Condition {
  const at = placeOf(path)
  const fields = ownFields(value)
  if (fields === null) throw refusal(code, at, show(value), 'a plain object with a kind')
  const kind = fields.get('kind')
  switch (kind) {
    case 'signal':
      return parseSignal(path, value)
    case 'count':
      return parseCount(path, value, depth + 1)
    case 'operator':
    case 'timeout':
      read(path, value, {})
      return { kind }
    case 'child':
      return parseChild(path, value)
    case 'time':
      return parseTime(path, value)
    case 'allOf':
    case 'anyOf':
      return { kind, members: parseMembers(path, value, kind, depth + 1) }
    default:
      throw refusal(code, `${at}.kind`, show(kind), oneOf(kind, conditionKinds))
  }
}

function placeOf(path: NodePath): string {
  return path === rootPath ? 'condition' : `condition.${path}`
}

function read<S extends Shape>(path: NodePath, value: unknown, shape: S): Read<S> {
  const { kind: _, ...fields } = readShape(code, placeOf(path), value, { kind: (_, kind) => kind, ...shape })
  return fields as Read<S>
}

const keyOfWaitpoint: Reader<string> = (at, value) => checkWaitpointKey(at, value, code)

const matcherShape = {
  name: (at: string, value: unknown) => checkSignalName(at, value, code),
  source: parseSource,
  payload: parsePredicate,
}

function parseSource(at: string, value: unknown): Partial<SignalSource> {
  const text: Reader<string> = (field, found) => checkSourceText(field, found, code)
  const source = readShape(code, at, value, { type: parseSourceType, identity: text })
  if (Object.keys(source).length > 0) return { ...source }
  throw refusal(code, at, 'empty', 'an object with a type, an identity or both; omit it to accept any source')
}

function parseSourceType(at: string, value: unknown): SourceType {
  const type = sourceTypes.find((known) => known === value)
  if (type !== undefined) return type
  throw refusal(code, at, show(value), `${oneOf(value, sourceTypes)}; conditions do not match claimed sources`)
}

function parseSignal(path: NodePath, value: unknown): SignalCondition {
  const fields = read(path, value, { waitpoint: keyOfWaitpoint, ...matcherShape })
  if (fields.waitpoint === undefined && fields.name === undefined) {
    throw impossible('waitpoints_empty', path, 'a signal leaf needs a waitpoint, or a name, or both')
  }
  return { kind: 'signal', ...fields }
}

function parseCount(path: NodePath, value: unknown, depth: number): CountCondition {
  checkDepth(path, depth)
  const shape = { n: parseN, distinct: parseDistinct, waitpoints: parseKeys, ...matcherShape }
  const { n, distinct, ...fields } = read(path, value, shape)
  if (n === undefined || distinct === undefined) {
    throw refusal(code, placeOf(path), 'a count without n or distinct', 'given both')
  }
  const count: CountCondition = { kind: 'count', n, distinct, ...fields }
  checkReach(path, count)
  return count
}

/** A source that is named in full, or the one token of each waitpoint. */
function mostSources(source: CountCondition['source'], waitpoints: CountCondition['waitpoints']): number {
  if (source?.type !== undefined && source.identity !== undefined) return 1
  return source?.type === 'token' ? (waitpoints?.length ?? 0) : Infinity
}

function checkReach(path: NodePath, { n, distinct, waitpoints, name, source }: CountCondition): void {
  if (n === 0) throw impossible('count_n_zero', path, 'a count of 0 is always satisfied; n must be at least 1')
  if (waitpoints?.length === 0 || (waitpoints === undefined && name === undefined)) {
    throw impossible('count_waitpoints_empty', path, 'a count needs waitpoints, or a name, or both')
  }
  if (distinct === 'waitpoints' && n > (waitpoints?.length ?? 0)) {
    const found = `n=${n}, waitpoints.len()=${waitpoints?.length ?? 0}`
    throw impossible('count_exceeds_waitpoint_set', path, `${found}; lower n or name more waitpoints`)
  }
  if (distinct === 'sources' && n > mostSources(source, waitpoints)) {
    throw impossible(
      'count_exceeds_sources',
      path,
      `n=${n}, but only ${mostSources(source, waitpoints)} can match; lower n or omit the source`,
    )
  }
  if (n > limits.signalCount) {
    const most = `an execution takes at most ${limits.signalCount} signals`
    throw impossible('count_exceeds_signal_limit', path, `n=${n}; ${most}, so lower n`)
  }
  if (waitpoints !== undefined && n > waitpoints.length * limits.waitpointSignalCount) {
    const most = `each waitpoint takes at most ${limits.waitpointSignalCount} signals`
    throw impossible('count_exceeds_signal_limit', path, `n=${n}; ${most}, so lower n or name more waitpoints`)
  }
}

function parseN(at: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw refusal(code, at, show(value), 'a whole number of at least 1')
}

function parseDistinct(at: string, value: unknown): CountedThing {
  const thing = countedThings.find((word) => word === value)
  if (thing !== undefined) return thing
  throw refusal(code, at, show(value), oneOf(value, countedThings))
}

function parseKeys(at: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw refusal(code, at, show(value), 'an array of waitpoint keys')
  const keys = Array.from(value as unknown[], (key, i) => keyOfWaitpoint(`${at}[${i}]`, key))
  const differing = new Set(keys).size
  if (differing === keys.length) return keys
  throw refusal(code, at, `${keys.length} keys of which ${differing} differ`, 'each key once')
}

function parseChild(path: NodePath, value: unknown): ChildCondition {
  const { executionId } = read(path, value, { executionId: (_: string, id: unknown) => parseExecutionId(id) })
  if (executionId === undefined) throw refusal(code, `${placeOf(path)}.executionId`, 'undefined', 'the id of a child')
  return { kind: 'child', executionId: formatExecutionId(executionId.partition, executionId.uuid) }
}

// The last millisecond of the year 9999, as for every point in time of a caller.
const lastTime = 253_402_300_799_999

function parseTime(path: NodePath, value: unknown): TimeCondition {
  const at = read(path, value, { at: (_: string, ms: unknown) => ms }).at
  if (typeof at === 'number' && Number.isSafeInteger(at) && at >= 0 && at <= lastTime) return { kind: 'time', at }
  const allowed = 'a point in time before the year 10000, in whole milliseconds since 1970'
  throw refusal(code, `${placeOf(path)}.at`, show(at), allowed)
}

function parseMembers(path: NodePath, value: unknown, kind: 'allOf' | 'anyOf', depth: number): readonly Condition[] {
  checkDepth(path, depth)
  const { members } = read(path, value, { members: (_: string, list: unknown) => list })
  if (!Array.isArray(members)) throw refusal(code, `${placeOf(path)}.members`, show(members), 'an array of conditions')
  if (members.length === 0) throw impossible(emptyMembers[kind], path, `${kind} has no members; give one or more`)
  return Array.from(members as unknown[], (member, i) => parseNode(memberPath(path, i), member, depth))
}

const emptyMembers = { allOf: 'allof_empty_members', anyOf: 'anyof_empty_members' } as const

function checkDepth(path: NodePath, depth: number): void {
  if (depth <= limits.conditionDepth) return
  const found = `depth ${depth} exceeds cap ${limits.conditionDepth}`
  throw impossible('depth_exceeded', path, 'move the inner members to the outer node, or wait twice', found)
}

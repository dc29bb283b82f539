import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate, evaluateAtDeadline } from '../../src/model/condition-evaluate.ts'
import { nodesOf, type Condition } from '../../src/model/condition.ts'
import { parseCondition } from '../../src/model/condition-parse.ts'
import { receive } from '../../src/model/condition-receive.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import { fulfils } from '../../src/model/predicate.ts'
import { parsePredicate } from '../../src/model/predicate-parse.ts'
import { holds, says } from './condition-reference.ts'
import { conditions, facts, predicates, signals } from './conditions.ts'

/** Most random conditions stay unsatisfied; there are enough runs for each property to see both. */
const numRuns = 1000
const check = <T extends unknown[]>(property: fc.IProperty<T>) => fc.assert(property, { numRuns })

describe('any condition', () => {
  test('reads the same when it was printed', () => {
    check(
      fc.property(conditions, (condition) => {
        const once = parseCondition(condition)
        expect(once).toEqual(condition)
        expect(parseCondition(JSON.parse(JSON.stringify(once)))).toStrictEqual(once)
      }),
    )
  })

  test('is satisfied exactly when the plain reading of it says so', () => {
    const seen = { satisfied: 0, unsatisfied: 0 }
    check(
      fc.property(conditions, facts, (condition, known) => {
        const { satisfied } = evaluate(condition, known)
        seen[satisfied ? 'satisfied' : 'unsatisfied'] += 1
        expect(satisfied).toBe(holds(condition, known))
      }),
    )
    expect(Math.min(seen.satisfied, seen.unsatisfied)).toBeGreaterThan(numRuns / 20)
  })

  test('stays satisfied when more signals arrive, and when time passes', () => {
    check(
      fc.property(conditions, facts, signals, fc.nat(9), (condition, known, more, later) => {
        fc.pre(evaluate(condition, known).satisfied)
        const ids = known.signals.map(({ id }) => id)
        const added = more.filter(({ id }) => !ids.includes(id))
        const signalsThen = [...known.signals, ...added]
        expect(evaluate(condition, { ...known, signals: signalsThen, now: known.now + later }).satisfied).toBe(true)
      }),
    )
  })

  test('has one evaluation, whatever the order in which signals are read', () => {
    check(
      fc.property(conditions, facts, fc.infiniteStream(fc.nat()), (condition, known, places) => {
        const shuffled = known.signals
          .map((signal) => ({ signal, place: places.next().value as number }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ signal }) => signal)
        expect(evaluate(condition, { ...known, signals: shuffled })).toEqual(evaluate(condition, known))
      }),
    )
  })

  test('is satisfied by the signals it takes alone, and takes nothing before', () => {
    check(
      fc.property(conditions, facts, (condition, known) => {
        const evaluation = evaluate(condition, known)
        if (!evaluation.satisfied) expect(evaluation.signals).toEqual([])
        if (!evaluation.satisfied) return
        const taken = known.signals.filter(({ id }) => evaluation.signals.includes(id))
        expect(taken).toHaveLength(evaluation.signals.length)
        expect(evaluate(condition, { ...known, signals: taken })).toMatchObject({
          satisfied: true,
          signals: evaluation.signals,
        })
      }),
    )
  })

  test('at a deadline that resumes, takes everything that counted, and names the satisfied leaves', () => {
    check(
      fc.property(conditions, facts, (condition, known) => {
        const before = evaluate(condition, known)
        fc.pre(!before.satisfied)
        const decision = evaluateAtDeadline(condition, known)
        const leaves = nodesOf(condition).filter(([, { kind }]) => kind !== 'allOf' && kind !== 'anyOf')
        const timedOut = { ...known, timedOutAt: known.now }
        expect(decision.satisfiedLeaves).toEqual(
          leaves.flatMap(([path, leaf]) => (holds(leaf, timedOut) ? [path] : [])),
        )
        const counted = new Set(Object.values(before.satisfiers).flat())
        expect(decision.signals.filter((id) => !counted.has(id))).toEqual([])
        const taken = known.signals.filter(({ id }) => decision.signals.includes(id))
        const again = evaluate(condition, { ...known, signals: taken })
        expect(again.satisfied).toBe(false)
        expect(evaluateAtDeadline(condition, { ...known, signals: taken }).signals).toEqual(decision.signals)
      }),
    )
  })

  test('comes due at the first moment at which time alone satisfies it', () => {
    check(
      fc.property(conditions, facts, (condition, known) => {
        const { satisfied, dueAt } = evaluate(condition, known)
        const moments = Array.from({ length: 40 }, (_, ahead) => known.now + ahead)
        const first = moments.find((now) => holds(condition, { ...known, now }))
        expect(dueAt).toBe(satisfied ? null : (first ?? null))
      }),
    )
  })

  test('names a member of each anyOf that is satisfied, and that member is satisfied', () => {
    check(
      fc.property(conditions, facts, (condition, known) => {
        for (const [path, winner] of Object.entries(evaluate(condition, known).winners)) {
          const node = nodeAt(condition, winner)
          expect(path === '<root>' || winner.startsWith(`${path}.`)).toBe(true)
          expect(node.kind).not.toBe('anyOf')
          expect(holds(node, known)).toBe(true)
        }
      }),
    )
  })

  test('reports a signal as satisfying exactly when the condition takes it, and always when it turns the condition true', () => {
    check(
      fc.property(conditions, facts, signals, (condition, known, more) => {
        const ids = known.signals.map(({ id }) => id)
        const added = more.find(({ id }) => !ids.includes(id))
        fc.pre(added !== undefined)
        const signal = { ...added, acceptedAt: known.now }
        const { evaluation, effects } = receive(condition, known, [signal])
        const [effect] = effects
        expect(evaluation).toEqual(evaluate(condition, { ...known, signals: [...known.signals, signal] }))
        expect(effect === 'resume_condition_satisfied').toBe(evaluation.signals.includes(signal.id))
        if (evaluate(condition, known).satisfied || !evaluation.satisfied) return
        expect(effect).toBe('resume_condition_satisfied')
      }),
    )
  })

  test('has the same result for signals that arrive together as one after the other', () => {
    check(
      fc.property(conditions, facts, signals, (condition, known, more) => {
        const ids = known.signals.map(({ id }) => id)
        const added = more
          .filter(({ id }) => !ids.includes(id))
          .toSorted((one, other) => Number(one.id > other.id) - Number(one.id < other.id))
          .map((signal) => ({ ...signal, acceptedAt: known.now }))
        fc.pre(added.length > 0)
        const effects: unknown[] = []
        for (let count = 1; count <= added.length; count += 1) {
          const before = { ...known, signals: [...known.signals, ...added.slice(0, count - 1)] }
          const { evaluation, effects: own } = receive(condition, before, [added[count - 1]!])
          effects.push(...own)
          if (!evaluation.satisfied && count < added.length) continue
          expect(receive(condition, known, added)).toEqual({ evaluation, effects })
          return
        }
      }),
    )
  })

  test('is evaluated a few times for five hundred signals that arrive together, not five hundred times', () => {
    let looks = 0
    const condition: Condition = {
      kind: 'count',
      distinct: 'signals',
      name: 'go',
      get n() {
        looks += 1
        return 300
      },
    }
    const together = Array.from({ length: 500 }, (_, index) => ({
      id: String(1000 + index),
      name: 'go',
      source: { type: 'caller' as const, identity: '' },
      acceptedAt: 1,
    }))
    expect(receive(condition, { signals: [], now: 1 }, together).effects).toHaveLength(300)
    expect(looks).toBeLessThan(20)
  })

  test('is walked a few times, however many signals arrive together', () => {
    let looks = 0
    const child = {
      get kind() {
        looks += 1
        return 'child' as const
      },
      executionId: mintExecutionId(),
    }
    const condition: Condition = { kind: 'allOf', members: [{ kind: 'signal', waitpoint: 'door' }, child] }
    const together = Array.from({ length: 500 }, (_, index) => ({
      id: `${index}`,
      name: 'go',
      source: { type: 'token' as const, identity: '' },
      waitpoint: 'door',
      acceptedAt: 1,
    }))
    const { effects } = receive(condition, { signals: [], now: 1 }, together)
    expect(new Set(effects.slice(1))).toEqual(new Set(['appended_to_waitpoint_duplicate']))
    expect(looks).toBeLessThan(20)
  })

  test('keeps the satisfiers of a node apart from those of the nodes beside it', () => {
    check(
      fc.property(conditions, conditions, facts, (left, right, known) => {
        const both = evaluate({ kind: 'allOf', members: [left, right] }, known)
        const alone = evaluate(left, known)
        for (const [path, ids] of Object.entries(alone.satisfiers)) {
          expect(both.satisfiers[path === '<root>' ? 'members[0]' : `members[0].${path}`]).toEqual(ids)
        }
        expect(both.satisfied).toBe(alone.satisfied && evaluate(right, known).satisfied)
      }),
    )
  })
})

describe('any predicate', () => {
  test('holds exactly when the plain reading of it says so', () => {
    check(
      fc.property(predicates, fc.jsonValue(), (predicate, payload) => {
        expect(parsePredicate('payload', predicate)).toEqual(predicate)
        expect(fulfils(payload as never, predicate)).toBe(says(payload as never, predicate))
      }),
    )
  })
})

function nodeAt(condition: Parameters<typeof evaluate>[0], path: string): Parameters<typeof evaluate>[0] {
  const places = [...path.matchAll(/\[(\d+)\]/g)].map(([, digits]) => Number(digits))
  return places.reduce((node, place) => ('members' in node ? node.members[place]! : node), condition)
}

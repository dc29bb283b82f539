import type { Bar, Ratio } from '../scenario.ts'

export function isMet(value: number, direction: Bar['direction'], bound: number): boolean {
  return direction === 'at least' ? value >= bound : value <= bound
}

/** `must >= 1 met, aim >= 2 missed` */
export function barsText({ value, bar }: Ratio): string {
  if (bar === undefined) return ''
  const sign = bar.direction === 'at least' ? '>=' : '<='
  const say = (word: 'must' | 'aim') => {
    const bound = bar[word]
    return bound === undefined
      ? []
      : [`${word} ${sign} ${bound} ${isMet(value, bar.direction, bound) ? 'met' : 'MISSED'}`]
  }
  return [...say('must'), ...say('aim')].join(', ')
}

import type { Bar, Ratio } from '../scenario.ts'

export function isMet(value: number, direction: Bar['direction'], bound: number): boolean {
  return direction === 'at least' ? value >= bound : value <= bound
}

/** `must >= 1 met, aim >= 2 missed` */
export function verdictOf({ value, bar }: Ratio): string {
  if (bar === undefined) return ''
  const sign = bar.direction === 'at least' ? '>=' : '<='
  const say = (word: string, bound: number) =>
    `${word} ${sign} ${bound} ${isMet(value, bar.direction, bound) ? 'met' : 'MISSED'}`
  const must = say('must', bar.must)
  return bar.aim === undefined ? must : `${must}, ${say('aim', bar.aim)}`
}

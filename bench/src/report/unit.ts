import type { Unit } from '../scenario.ts'

export function inUnit(value: number, unit: Unit): string {
  if (unit === 'ms') return `${value.toFixed(value < 100 ? 2 : 0)} ms`
  const number = value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
  return unit === '/s' ? `${number}/s` : `${number} ${unit}`
}

/** Two digits that mean something, also where one is a thousandth of the other. */
export function showRatio(value: number): string {
  const digits = value < 0.1 ? Math.min(4, 1 - Math.floor(Math.log10(Math.max(value, 1e-4)))) : value < 10 ? 2 : 0
  return `${value.toFixed(digits)}x`
}

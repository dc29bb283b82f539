import type { Unit } from '../scenario.ts'

export function inUnit(value: number, unit: Unit): string {
  if (unit === 'ms') return `${value.toFixed(value < 100 ? 2 : 0)} ms`
  const number = value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
  return unit === '/s' ? `${number}/s` : `${number} ${unit}`
}

/** Two significant digits, also for very small values. */
export function showRatio(value: number): string {
  if (value < 0.0001) return '<0.0001x'
  if (value < 0.1) return `${value.toPrecision(2)}x`
  return `${value.toFixed(value < 10 ? 2 : 0)}x`
}

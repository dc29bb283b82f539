export { outlast } from '../engine/outlast.ts'

// The shape of a request, from the table of its fields.
import { z } from 'zod'
import type { AnyField, Fields, Wire } from '../../model/field.ts'
import type { TextRule } from '../../model/text.ts'
import * as bounds from './bounds.ts'
import {
  bytes,
  duration,
  durationWithin,
  executionId,
  flowId,
  json,
  partition,
  registry,
  time,
  waitpointId,
} from './words.ts'

type ShapeOf<Table extends Fields> = { readonly [Name in keyof Table]: z.ZodType }

/** For a request, which is refused with an unknown field. */
export function requestOf<Table extends Fields>(table: Table): z.ZodObject<ShapeOf<Table>, z.core.$strict> {
  return z.strictObject(shapeOf(table))
}

export function shapeOf<Table extends Fields>(table: Table): ShapeOf<Table> {
  const sent = Object.entries(table).filter(([, { wire }]) => wire !== null)
  return Object.fromEntries(sent.map(([name, field]) => [name, schemaOf(field)])) as ShapeOf<Table>
}

function schemaOf({ wire, isOptional, description }: AnyField): z.ZodType {
  const schema = ofWire(wire!)
  const given = isOptional ? schema.optional() : schema
  return description === null ? given : given.describe(description)
}

const ids = { execution: executionId, flow: flowId, waitpoint: waitpointId }

function ofWire(wire: Wire): z.ZodType {
  switch (wire.kind) {
    case 'text':
      return textOf(wire.rule)
    case 'pattern':
      return patternOf(wire)
    case 'whole':
      return z.int().min(wire.min).max(wire.max)
    case 'words':
      return wire.name === undefined ? z.enum(wire.words) : namedAs(wire.name)
    case 'id':
      return ids[wire.noun]
    case 'duration':
      return wire.minMs === undefined ? duration : durationWithin(wire.minMs, wire.maxMs!)
    case 'list':
      return listOf(wire)
    case 'fields':
      return requestOf(wire.fields)
    case 'flag':
      return z.boolean()
    case 'time':
      return time
    case 'bytes':
      return bytes
    case 'json':
      return json
    case 'named':
      return namedAs(wire.name)
  }
}

function textOf({ minBytes = 0, maxBytes, refuseControls, printableAscii }: TextRule): z.ZodType {
  const of = printableAscii === true ? 'ascii' : refuseControls === true ? 'line' : 'text'
  return bounds.text({ least: minBytes, most: maxBytes, of })
}

function patternOf({ pattern, min, max }: Extract<Wire, { kind: 'pattern' }>): z.ZodType {
  let schema = z.string()
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  return schema.regex(pattern)
}

function listOf({ of, min, max }: Extract<Wire, { kind: 'list' }>): z.ZodType {
  let schema = z.array(schemaOf(of))
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  return schema
}

/** Shapes that no kind of field makes, for fields of the kind `named`. */
const writtenShapes = new Map<string, z.ZodType>()

export function written(name: string, schema: z.ZodType): void {
  writtenShapes.set(name, schema)
}

written('capabilities', bounds.capabilities)
written('partition', partition)
written('linkBase', z.string())
function namedAs(name: string): z.ZodType {
  return writtenShapes.get(name) ?? registry.get(name)!.schema
}

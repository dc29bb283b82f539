// A graph in a terminal: one line for each node, nodes without dependencies first, and the edges to the left of them.
//
//   ●          build
//   ├─●─┐      unit
//   ├─●─┤      browser
//   └───┴─●    deploy
//
// Nodes are in columns by layer, one beyond the furthest of their predecessors. The edges of a node start to the right
// and run down a track, which it shares with nodes of its layer that have the same successors. The line of a successor
// begins at the leftmost track that leads to it. A line that crosses a track which does not lead to it is broken there.

export interface Node {
  readonly id: string
  readonly upstreamIds: readonly string[]
}

export interface DrawnNode {
  readonly id: string
  readonly layer: number
  /** The line up to the symbol of the node, and after it. */
  readonly before: string
  readonly after: string
}

export interface Drawing {
  readonly rows: readonly DrawnNode[]
  readonly width: number
}

interface Track {
  readonly x: number
  readonly fromRow: number
  readonly toRow: number
}

const [up, down, left, right] = [1, 2, 4, 8]
const lines = '?│││─┘┐┤─└┌├─┴┬┼'
const plainLines = '?|||-++|-++|-+++'

export function drawGraph(nodes: readonly Node[], hasUnicode: boolean): Drawing {
  const layers = layersOf(nodes)
  const order = orderOf(nodes, layers)
  const rowOf = new Map(order.map((node, row) => [node.id, row]))
  const downstreamRows = rowsBelow(order, rowOf)
  const { trackOf, xOf } = place(order, layers, downstreamRows)

  const width = Math.max(0, ...xOf) + 1
  const canvas = new Canvas(order.length, width)
  for (const track of new Set(trackOf)) if (track !== null) canvas.vertical(track)
  order.forEach((node, row) => {
    const own = trackOf[row]
    if (own !== null && own !== undefined && own.x !== xOf[row]) canvas.source(row, xOf[row]!, own.x)
    const inbound = node.upstreamIds.flatMap((id) => trackOf[rowOf.get(id) ?? -1] ?? [])
    if (inbound.length > 0) canvas.target(row, xOf[row]!, new Set(inbound.map((track) => track.x)))
  })
  return {
    width,
    rows: order.map((node, row) => {
      const text = canvas.row(row, hasUnicode ? lines : plainLines)
      const x = xOf[row]!
      return { id: node.id, layer: layers.get(node.id)!, before: text.slice(0, x), after: text.slice(x + 1) }
    }),
  }
}

/** One more than the furthest of its predecessors. */
export function layersOf(nodes: readonly Node[]): Map<string, number> {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const layers = new Map<string, number>()
  const layerOf = (id: string): number => {
    const found = layers.get(id)
    if (found !== undefined) return found
    // Replaced below; only a graph with cycles reads it.
    layers.set(id, 0)
    const before = known.get(id)!.upstreamIds.filter((upstream) => known.has(upstream))
    const layer = Math.max(-1, ...before.map(layerOf)) + 1
    layers.set(id, layer)
    return layer
  }
  for (const node of nodes) layerOf(node.id)
  return layers
}

/** By layer; within a layer, near their predecessors. */
function orderOf(nodes: readonly Node[], layers: ReadonlyMap<string, number>): Node[] {
  const rows = new Map<string, number>()
  const ordered: Node[] = []
  const deepest = Math.max(-1, ...layers.values())
  for (let layer = 0; layer <= deepest; layer += 1) {
    const inLayer = nodes
      .filter((node) => layers.get(node.id) === layer)
      .map((node) => ({ node, at: mean(node.upstreamIds.flatMap((id) => rows.get(id) ?? [])) }))
      .toSorted((a, b) => a.at - b.at)
    for (const { node } of inLayer) {
      rows.set(node.id, ordered.length)
      ordered.push(node)
    }
  }
  return ordered
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}

/** By row: the rows of its successors. */
function rowsBelow(order: readonly Node[], rowOf: ReadonlyMap<string, number>): number[][] {
  const below: number[][] = order.map(() => [])
  order.forEach((node, row) => {
    for (const id of new Set(node.upstreamIds)) below[rowOf.get(id) ?? -1]?.push(row)
  })
  return below
}

/** The columns of nodes, and the track of each node's edges; null for a node without successors. */
function place(
  order: readonly Node[],
  layers: ReadonlyMap<string, number>,
  below: readonly (readonly number[])[],
): { readonly trackOf: (Track | null)[]; readonly xOf: number[] } {
  const xOf: number[] = []
  const trackOf: (Track | null)[] = []
  let x = 0
  for (let start = 0; start < order.length;) {
    const layer = layers.get(order[start]!.id)
    let end = start
    while (end < order.length && layers.get(order[end]!.id) === layer) end += 1
    const rows = Array.from({ length: end - start }, (_, index) => start + index)
    const groups = new Map<string, number[]>()
    for (const row of rows) {
      const successors = below[row]!.join()
      if (successors !== '') groups.set(successors, [...(groups.get(successors) ?? []), row])
    }
    // A node that is alone in its layer has its track right below it. Otherwise the last track to begin is the nearest,
    // so that a line to a track crosses none that has begun.
    const isAlone = rows.length === 1
    const tracks = [...groups.values()].toSorted((a, b) => b[0]! - a[0]!)
    for (const row of rows) xOf[row] = x
    for (const row of rows) trackOf[row] = null
    tracks.forEach((sources, index) => {
      const track: Track = {
        x: isAlone ? x : x + 2 + 2 * index,
        fromRow: sources[0]!,
        toRow: Math.max(...below[sources[0]!]!),
      }
      for (const row of sources) trackOf[row] = track
    })
    x += isAlone ? 2 : 2 + 2 * tracks.length
    start = end
  }
  return { trackOf, xOf }
}

class Canvas {
  readonly #verticals: number[][]
  readonly #horizontals: number[][]
  readonly #taps: boolean[][]

  constructor(height: number, width: number) {
    const grid = <T>(value: T): T[][] =>
      Array.from({ length: height }, () => Array.from({ length: width }, () => value))
    this.#verticals = grid(0)
    this.#horizontals = grid(0)
    this.#taps = grid(false)
  }

  vertical({ x, fromRow, toRow }: Track): void {
    for (let row = fromRow; row <= toRow; row += 1) {
      this.#verticals[row]![x] = (row > fromRow ? up : 0) | (row < toRow ? down : 0)
    }
  }

  /** Draws from a node to its track. */
  source(row: number, fromX: number, toX: number): void {
    for (let x = fromX + 1; x < toX; x += 1) this.#horizontals[row]![x] = left | right
    this.#horizontals[row]![toX] = left
    this.#taps[row]![toX] = true
  }

  /** Draws from the tracks to a node. */
  target(row: number, toX: number, tracks: ReadonlySet<number>): void {
    const fromX = Math.min(...tracks)
    for (let x = fromX; x < toX; x += 1) this.#horizontals[row]![x] = right | (x > fromX ? left : 0)
    for (const x of tracks) this.#taps[row]![x] = true
  }

  row(row: number, glyphs: string): string {
    const characters = this.#verticals[row]!.map((vertical, x) => {
      const horizontal = this.#horizontals[row]![x]!
      const isCrossing = vertical !== 0 && !this.#taps[row]![x]
      const bits = isCrossing ? vertical : vertical | horizontal
      return bits === 0 ? ' ' : glyphs[bits]!
    })
    return characters.join('').trimEnd().padEnd(characters.length)
  }
}

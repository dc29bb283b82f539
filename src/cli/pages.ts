// Lists are read in pages; commands show one page, or follow the cursors to the end.

export interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly nextCursor: string | null
}

/** Row by row through all pages. */
export async function* everyRow<Row>(read: (from: { cursor?: string }) => Promise<ListPage<Row>>): AsyncGenerator<Row> {
  let cursor: string | null = null
  do {
    const page: ListPage<Row> = await read(cursor === null ? {} : { cursor })
    yield* page.rows
    cursor = page.nextCursor
  } while (cursor !== null)
}

/** All rows, up to `most`. */
export async function collect<Row>(
  most: number,
  read: (from: { cursor?: string }) => Promise<ListPage<Row>>,
): Promise<{ readonly rows: Row[]; readonly hasMore: boolean }> {
  const rows: Row[] = []
  for await (const row of everyRow(read)) {
    if (rows.length === most) return { rows, hasMore: true }
    rows.push(row)
  }
  return { rows, hasMore: false }
}

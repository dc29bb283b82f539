// Opens an embedded directory and creates one execution after another, reporting each id after its answer.
import { connect } from '../../src/connect/connect.ts'

const [url = ''] = process.argv.slice(2)
const { engine } = await connect(url)
for (;;) {
  const { executionId } = await engine.executions.create({ kind: 'k', tags: { a: 'b' } })
  process.send?.({ executionId })
}

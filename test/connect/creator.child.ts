// Opens an embedded directory and creates one execution after another, telling each id when it is answered.
import { connect } from '../../src/connect/connect.ts'

const [url = ''] = process.argv.slice(2)
const { engine } = await connect(url)
for (;;) {
  const { executionId } = await engine.executions.create({ kind: 'k', tags: { a: 'b' } })
  process.send?.({ executionId })
}

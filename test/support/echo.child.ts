interface Order {
  readonly say?: string
  readonly fail?: string
}

process.on('message', ({ say, fail }: Order) => {
  if (fail !== undefined) throw new Error(fail)
  process.send!({ said: say })
})
process.send!({ args: process.argv.slice(2), second: process.env['SECOND'] })

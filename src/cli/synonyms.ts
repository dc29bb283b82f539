// Commands of other tools, mapped to ours.

const commandFor: Readonly<Record<string, string>> = {
  retry: 'replay',
  rerun: 'replay',
  redo: 'replay',
  redrive: 'replay',
  restart: 'replay',
  enqueue: 'submit',
  run: 'submit',
  create: 'submit',
  trigger: 'submit',
  ls: 'list',
  ps: 'list',
  get: 'show',
  describe: 'show',
  inspect: 'show',
  status: 'show',
  explain: 'show',
  logs: 'watch',
  tail: 'watch',
  events: 'watch',
  kill: 'cancel',
  stop: 'cancel',
  abort: 'cancel',
  send: 'signal',
  health: 'doctor',
  check: 'doctor',
  start: 'dev',
  queue: 'lane',
  queues: 'lane',
  cron: 'schedule',
}

const meaning: Readonly<Record<string, string>> = {
  replay: 'runs ended executions again',
  submit: 'submits an execution',
  list: 'lists executions',
  show: 'shows an execution',
  watch: 'prints events',
  cancel: 'ends executions',
  signal: 'sends a signal',
  doctor: 'checks the database',
  dev: 'runs your tasks',
  lane: 'inspects lanes',
  schedule: 'manages schedules',
}

/** The message about an unknown command, with our command of the same meaning. */
export function withSynonym(text: string): string {
  const [, typed = ''] = /unknown command '([^']*)'/.exec(text) ?? []
  const command = Object.hasOwn(commandFor, typed) ? commandFor[typed]! : undefined
  if (command === undefined) return text
  const [first = text] = text.split('\n')
  return `${first}\n\`flowfabric ${command}\` ${meaning[command]}; see \`flowfabric help ${command}\`.\n`
}

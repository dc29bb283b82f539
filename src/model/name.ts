import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { checkText } from './text.ts'

export function checkLane(value: unknown): string {
  return checkText('lane', value, { minBytes: 1, maxBytes: limits.laneBytes, printableAscii: true })
}

/** `*` means every namespace where a caller is bound, so no namespace can have that name. */
export function checkNamespace(value: unknown): string {
  const namespace = checkText('namespace', value, {
    minBytes: 1,
    maxBytes: limits.namespaceBytes,
    refuseControls: true,
  })
  if (namespace !== '*') return namespace
  throw new EngineError('invalid_input', "namespace is '*', which means all namespaces; pass one", {
    field: 'namespace',
    found: namespace,
  })
}

export function checkKind(value: unknown): string {
  return checkText('kind', value, { minBytes: 1, maxBytes: limits.kindBytes, refuseControls: true })
}

export function checkVersion(value: unknown): string {
  return checkText('version', value, { minBytes: 1, maxBytes: limits.versionBytes, refuseControls: true })
}

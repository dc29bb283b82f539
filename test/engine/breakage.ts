// Ways to break an invariant by SQL, and to repair it again.
import type { Factory } from '../support/factory.ts'

export interface Breakage {
  readonly invariant: string
  readonly by: string
  readonly given: keyof Factory
  /** Keeps the removed rows in a table of their own, from which they are restored. */
  readonly breaks: string
  readonly repairs: string
}

export const noExecution = "'0190a3c4-0000-7000-8000-00000000dead'"

export function taking(table: string): Pick<Breakage, 'breaks' | 'repairs'> {
  return {
    breaks: `create table public.taken as table flowfabric.${table}; delete from flowfabric.${table}`,
    repairs: `insert into flowfabric.${table} table public.taken; drop table public.taken`,
  }
}

export function adding(table: string, columns: string, values: string): Pick<Breakage, 'breaks' | 'repairs'> {
  return {
    breaks: `insert into flowfabric.${table} (${columns}) select ${values} from flowfabric.ff_exec_core`,
    repairs: `delete from flowfabric.${table} where ctid = (select max(ctid) from flowfabric.${table})`,
  }
}

export function changing(
  table: string,
  column: string,
  value: string,
  back: string,
): Pick<Breakage, 'breaks' | 'repairs'> {
  return {
    breaks: `update flowfabric.${table} set ${column} = ${value}`,
    repairs: `update flowfabric.${table} set ${column} = ${back}`,
  }
}

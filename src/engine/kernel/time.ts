export { checkTime } from '../../model/time.ts'

import { OPS } from './registry'
import { FAMILIES, type Family, type Op } from './types'

/** The names under which a PyTorch call is known: `F.relu(x)` also as `torch.nn.functional.relu(x)`. */
const callNames = (call: string): string => call.replaceAll(/\bF\.(?=\w)/g, 'torch.nn.functional.')

const texts = new Map<string, string>()

/** All that a search looks at, in lower case: name, with spaces too, family, summary and the PyTorch call in both forms. */
function textOf(op: Op): string {
  const known = texts.get(op.id)
  if (known !== undefined) return known
  const { id, family, summary, torch } = op
  // torch.softmax and others are functions of torch.nn.functional as well.
  const functional = /^torch\.(\w+)\(/.exec(torch)?.[1]
  const text = [id, id.replaceAll('_', ' '), family, summary, torch, callNames(torch), ...(functional ? [`torch.nn.functional.${functional}`] : [])].join(' ').toLowerCase()
  texts.set(id, text)
  return text
}

/** Whether an operation has every word of the search in its name, family, summary or PyTorch call. */
export function matchesOp(op: Op, search: string): boolean {
  const text = textOf(op)
  return search.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text.includes(word))
}

/** Families with their operations that match, in the order of the registry; families without one are left out. */
export const searchOps = (search: string): { family: Family; ops: Op[] }[] =>
  FAMILIES.map((family) => ({ family, ops: OPS.filter((op) => op.family === family && matchesOp(op, search)) })).filter(({ ops }) => ops.length > 0)

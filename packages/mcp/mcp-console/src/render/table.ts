/** Plain aligned columns, without borders; characters of double width are counted as such. */
import Table from 'cli-table3'

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** One column. */
export interface Column {
  readonly title: string
  /** Numbers stand right. */
  readonly isNumber?: boolean
}

/**
 * Lay out rows in columns.
 *
 * @param columns - their titles; a table whose titles are all empty gets no head.
 * @param rows - cells that are safe to print; colours are allowed.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const hasHead = columns.some(({ title }) => title !== '')
  const table = new Table({
    ...(hasHead && { head: columns.map(({ title }) => title) }),
    chars: NO_LINES,
    colAligns: columns.map(({ isNumber }) => (isNumber === true ? 'right' : 'left')),
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

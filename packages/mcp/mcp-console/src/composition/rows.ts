/**
 * The rows of a composition file. The loader passes over a row that it cannot use, or fails in words of its own, lets a
 * second row of the same id take the place of the first, and does nothing about another plugin in a row that runs; here
 * such rows are refused.
 *
 * Invariants: rows are taken all or none; everything that is wrong is told at once, and where it stands.
 */
import { EntryGroup, type EntryTree } from '@deepseek-ai/cordis-plugin-loader'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'

/** Thrown for rows that cannot be mounted. */
export class RowsError extends Error {
  override readonly name = 'RowsError'
}

/** Rows that are checked before the first of them is mounted. */
export class CheckedRows extends EntryGroup {
  /** @throws {RowsError} and changes nothing, when the loader cannot take the rows. */
  override async update(rows: EntryGroup['data']): Promise<void> {
    const problems: string[] = []
    checkRows(rows, '', new Map(), this.tree.store, problems)
    if (problems.length > 0) throw new RowsError(problems.join('; '))
    await super.update(rows)
  }
}

function checkRows(
  rows: readonly unknown[],
  parent: string,
  placeById: Map<string, string>,
  running: EntryTree['store'],
  problems: string[],
): void {
  for (const [index, row] of rows.entries()) {
    const place = `${parent}row ${index + 1}`
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      problems.push(`${place} is no mapping; a row begins with "- name:"`)
      continue
    }
    const { id, name, group, config } = row as Record<string, unknown>
    if (typeof name !== 'string' || name === '') problems.push(`${place} has no name; it names the plugin`)
    if (typeof id === 'string' || typeof id === 'number') {
      const { fiber, options } = running[id] ?? {}
      if (fiber?.uid && options?.name !== name)
        problems.push(`${place} names another plugin than the row of its id that runs; give it another id`)
      const other = placeById.get(String(id))
      if (other === undefined) placeById.set(String(id), place)
      else
        problems.push(`${place} has the id ${JSON.stringify(visibleLine(String(id), 60))}, as ${other} has`)
    } else if (id !== undefined && id !== null) {
      problems.push(`${place} has an id that is no text`)
    }
    if (group === true && Array.isArray(config)) checkRows(config, `${place}, `, placeById, running, problems)
  }
}

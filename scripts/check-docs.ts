/**
 * `pnpm check:docs`: every page exists in English (X.md) and Chinese (X.zh.md), both have the same skeleton,
 * links lead somewhere, and the two sides are changed together.
 *
 * A commit that rightly changes one side only (a typo, a better translation) says why in its message, in a line
 * that begins with `docs: one side only`.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { comparePair, deadLinks, translationOf } from './doc-pairs.ts'
import { root } from './workspace.ts'

const exemption = /^docs: one side only\W+\w/m

function git(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', ['-c', 'core.quotePath=false', ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

/** Pages for readers: of the repository's root, docs/, examples/ and the packages, without their test data. */
function isPage(file: string): boolean {
  return (
    /^([^/]+|(docs|examples|packages)\/.+)\.md$/.test(file) &&
    !/(^|\/)(CHANGELOG\.md$|tests\/|src\/)/.test(file) &&
    existsSync(join(root, file))
  )
}

/** Why the two sides of a pair are not known to say the same, or undefined when they are. */
function drift(english: string, chinese: string, uncommitted: ReadonlySet<string>): string | undefined {
  const changed = [english, chinese].filter((file) => uncommitted.has(file))
  if (changed.length === 1) return `only ${changed[0]} has uncommitted changes`
  if (changed.length === 2) return undefined
  const [commit, message = '', files = ''] = git(
    'log',
    '-1',
    '--format=%h%x00%B%x00',
    '--name-only',
    '--',
    english,
    chinese,
  ).split('\0')
  const touched = files.trim().split('\n')
  if (touched.length !== 1 || exemption.test(message)) return undefined
  return `commit ${commit} changed only ${touched[0]}; change both, or say in the commit message "docs: one side only: <reason>"`
}

const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md')
  .split('\0')
  .filter(isPage)
const uncommitted = new Set(
  git('status', '--porcelain', '-z', '--untracked-files=all', '--no-renames', '--', '*.md')
    .split('\0')
    .map((line) => line.slice(3)),
)
const problems: string[] = []
for (const file of new Set(files)) {
  const text = readFileSync(join(root, file), 'utf8')
  for (const link of deadLinks(root, file, text)) problems.push(`${file}: the link to ${link} leads nowhere`)
  if (file.endsWith('.zh.md')) {
    const english = file.replace(/\.zh\.md$/, '.md')
    if (!existsSync(join(root, english))) problems.push(`${file}: has no English side ${english}`)
    continue
  }
  const translation = translationOf(file)
  if (!existsSync(join(root, translation))) {
    problems.push(`${file}: has no Chinese side ${translation}`)
    continue
  }
  for (const difference of comparePair(text, readFileSync(join(root, translation), 'utf8')))
    problems.push(`${file}: ${difference}`)
  const drifted = drift(file, translation, uncommitted)
  if (drifted !== undefined) problems.push(`${file}: ${drifted}`)
}
for (const problem of problems) process.stdout.write(`${problem}\n`)
process.stdout.write(`${files.length} pages, ${problems.length} problems\n`)
process.exitCode = problems.length === 0 ? 0 : 1

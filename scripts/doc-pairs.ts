/**
 * What makes a page and its translation a pair: the same skeleton, whatever the words are.
 */

import { dirname, join, posix } from 'node:path'
import { existsSync } from 'node:fs'
import { lexer, walkTokens, type MarkedToken } from 'marked'

/** The parts of a page that its translation must have too, in order. */
interface Skeleton {
  /** Depths of the headings. */
  readonly headings: readonly string[]
  /** Each table as `rows × columns`. */
  readonly tables: readonly string[]
  /** Each fenced block: its language, then its lines without comments. */
  readonly code: readonly string[]
  /** Where links and images point, sorted, since word order differs between languages. */
  readonly links: readonly string[]
}

/** Name of the Chinese side of an English page. */
export function translationOf(page: string): string {
  return page.replace(/\.md$/, '.zh.md')
}

function withoutComments(code: string): string {
  return code
    .split('\n')
    .filter((line) => !/^\s*(#|\/\/|\/?\*|<!--|--\s)/.test(line))
    .map((line) => line.replace(/\s+(#|\/\/)\s.*$/, '').trimEnd())
    .join('\n')
}

/** All tokens of a page, nested ones included. */
function tokensOf(markdown: string): MarkedToken[] {
  const tokens: MarkedToken[] = []
  void walkTokens(lexer(markdown), (token) => {
    tokens.push(token as MarkedToken)
  })
  return tokens
}

function hrefs(tokens: readonly MarkedToken[]): string[] {
  return tokens.flatMap((token) => (token.type === 'link' || token.type === 'image' ? [token.href] : []))
}

function skeleton(markdown: string): Skeleton {
  const tokens = tokensOf(markdown)
  return {
    headings: tokens.flatMap((token) => (token.type === 'heading' ? ['#'.repeat(token.depth)] : [])),
    tables: tokens.flatMap((token) =>
      token.type === 'table' ? [`${token.rows.length} rows of ${token.header.length}`] : [],
    ),
    code: tokens.flatMap((token) => {
      if (token.type !== 'code') return []
      // The labels of a diagram are translated; its shape is its number of lines.
      const body =
        token.lang === 'mermaid' ? `${token.text.split('\n').length} lines` : withoutComments(token.text)
      return [`${token.lang ?? ''}\n${body}`]
    }),
    links: hrefs(tokens)
      // Anchors are made of translated headings.
      .map((href) => href.replace(/#.*/, '#').replace(/\.zh\.md(#?)$/, '.md$1'))
      .toSorted(),
  }
}

/**
 * Compare a page with its translation.
 *
 * @returns one line for each kind of part in which they differ, naming the first difference.
 */
export function comparePair(english: string, chinese: string): string[] {
  const [left, right] = [skeleton(english), skeleton(chinese)]
  const differences: string[] = []
  for (const part of ['headings', 'tables', 'code', 'links'] as const) {
    const [a, b] = [left[part], right[part]]
    const at = [...a, ...b].findIndex((_, index) => a[index] !== b[index])
    if (at < 0) continue
    const show = (value: string | undefined) =>
      value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 120)
    differences.push(`${part}: number ${at + 1} is ${show(a[at])} here and ${show(b[at])} in the translation`)
  }
  return differences
}

/**
 * Find the relative links of a page that lead nowhere.
 *
 * @param root folder that links beginning with `/` start from
 * @param page path of the page below it
 */
export function deadLinks(root: string, page: string, markdown: string): string[] {
  return hrefs(tokensOf(markdown)).filter((href) => {
    if (/^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(href)) return false
    const target = decodeURIComponent(href.replace(/[?#].*/, ''))
    return !existsSync(join(root, target.startsWith('/') ? target : posix.join(dirname(page), target)))
  })
}

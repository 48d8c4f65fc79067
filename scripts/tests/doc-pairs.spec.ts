import { describe, expect, it } from 'vitest'
import { comparePair, deadLinks, translationOf } from '../doc-pairs.ts'
import { root } from '../workspace.ts'

describe('comparePair', () => {
  it('accepts a page whose words alone differ', () => {
    const english = [
      '# Title',
      '[中文](README.zh.md) [part](#some-part) ![logo](logo.png) [guide](docs/guide.md#start)',
      '| a | b |\n|---|---|\n| 1 | 2 |',
      '```sh\n# install\nnpm start # run it\n```',
      '```mermaid\ngraph TD\n  A[server]\n```',
    ]
    const chinese = [
      '# 标题',
      '![图](logo.png) [English](README.md) [指南](docs/guide.zh.md#开始) [部分](#某部分)',
      '| 甲 | 乙 |\n|---|---|\n| 1 | 2 |',
      '```sh\n# 安装\nnpm start # 运行\n```',
      '```mermaid\ngraph TD\n  A[服务器]\n```',
    ]
    expect(comparePair(english.join('\n\n'), chinese.join('\n\n'))).toEqual([])
  })

  it.each([
    [
      'headings',
      '# a\n\n## b',
      '# a\n\n### b',
      'headings: number 2 is "##" here and "###" in the translation',
    ],
    [
      'missing heading',
      '# a\n\n## b',
      '# a',
      'headings: number 2 is "##" here and nothing in the translation',
    ],
    [
      'table rows',
      '| a |\n|---|\n| 1 |\n| 2 |',
      '| a |\n|---|\n| 1 |',
      'tables: number 1 is "2 rows of 1" here and "1 rows of 1" in the translation',
    ],
    [
      'code',
      '```sh\nnpm start\n```',
      '```sh\nnpm test\n```',
      String.raw`code: number 1 is "sh\nnpm start" here and "sh\nnpm test" in the translation`,
    ],
    ['links', '[a](x.md)', '[a](y.zh.md)', 'links: number 1 is "x.md" here and "y.md" in the translation'],
  ])('names the first difference of %s', (_, english, chinese, message) => {
    expect(comparePair(english, chinese)).toEqual([message])
  })
})

it('knows the name of the other side', () => {
  expect(translationOf('docs/guide.md')).toBe('docs/guide.zh.md')
})

it('finds relative links to files that do not exist, and leaves other links alone', () => {
  const page =
    '[a](../package.json) [b](/LICENSE#x) [c](#here) [d](https://example.com/x) [e](mailto:a@b.c) [f](nowhere.md)'
  expect(deadLinks(root, 'docs/page.md', page)).toEqual(['nowhere.md'])
})

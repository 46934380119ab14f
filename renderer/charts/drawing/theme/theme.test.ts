import { expect, test } from 'vitest'
import { colouredBy, colourChoices, chartTheme } from './theme'

const on = (...devices: string[]) => devices.map((device) => ({ backend: device.includes('cuda') ? 'cuda' : 'cpu', device }))

test('charts are coloured by device where a backend has several, and may be by host where there are several', () => {
  expect(colourChoices(on('cpu', 'cuda:0'))).toEqual(['implementation'])
  expect(colourChoices(on('cuda:0', 'cuda:1'))).toEqual(['device', 'implementation'])
  expect(colourChoices(on('n1/cuda:0', 'n2/cuda:0'))).toEqual(['device', 'host', 'implementation'])
})

test('devices differ in colour, those of one host do not by host, and what is not among them keeps the colour of its implementation', () => {
  const theme = chartTheme('light')
  const devices = ['n1/cuda:0', 'n1/cuda:1', 'n2/cuda:0']
  const colours = (by: 'device' | 'host') => devices.map((device) => colouredBy(theme, by, devices).colorOf('cuda', 'kernel', device))
  expect(new Set(colours('device')).size).toBe(3)
  const [first, second, third] = colours('host')
  expect([first === second, first === third]).toEqual([true, false])
  expect(colouredBy(theme, 'device', devices).colorOf('cpu', 'avx2', 'cpu')).toBe(theme.colorOf('cpu', 'avx2'))
  expect(colouredBy(theme, 'implementation', devices)).toBe(theme)
})

/*
 * What makes a report live: theme, values under the pointer, zoom, series to switch off, a table to sort and filter.
 * Runs inside the report, so it is plain JavaScript without imports; without it the report still says everything.
 */
;(() => {
  'use strict'
  const SVG = 'http://www.w3.org/2000/svg'
  const all = (selector, within = document) => [...within.querySelectorAll(selector)]
  const set = (element, attributes) => {
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    return element
  }
  const fill = (element, attributes, text) => {
    set(element, attributes).textContent = text
    return element
  }
  const make = (name, attributes = {}, text = '') => fill(document.createElement(name), attributes, text)
  const draw = (name, attributes = {}, text = '') => fill(document.createElementNS(SVG, name), attributes, text)
  const press = (element, act) => {
    element.tabIndex = 0
    element.addEventListener('click', act)
    element.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      act()
    })
  }

  const themes = ['system', 'light', 'dark']
  const theme = make('button', { type: 'button', class: 'tool theme' }, 'Theme: system')
  theme.addEventListener('click', () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme || 'system') + 1) % 3]
    document.documentElement.dataset.theme = next
    theme.textContent = `Theme: ${next}`
  })
  document.body.prepend(theme)

  /* Units as in the tables; the same largest unit that leaves a whole. */
  const scale = (names, step) => names.map((name, i) => [step ** i, name])
  const UNITS = {
    time: [[1, ' ns'], [1e3, ' µs'], [1e6, ' ms'], [1e9, ' s']],
    bandwidth: scale([' B/s', ' KB/s', ' MB/s', ' GB/s', ' TB/s', ' PB/s'], 1000),
    flops: scale([' FLOP/s', ' KFLOP/s', ' MFLOP/s', ' GFLOP/s', ' TFLOP/s', ' PFLOP/s'], 1000),
    count: scale(['', 'K', 'M', 'G', 'T'], 1000),
    ratio: [[1, 'x']],
  }
  const format = (kind, value) => {
    const [size, name] = UNITS[kind].findLast(([least]) => value >= least) || UNITS[kind][0]
    return `${Number((value / size).toPrecision(3))}${name}`
  }

  /* Ticks of a logarithmic axis: powers of two or decades and their 2 and 5, round steps where those are too few. */
  const ticksOf = (low, high, kind) => {
    const found = []
    if (kind === 'count') for (let e = Math.ceil(Math.log2(low) - 1e-9); 2 ** e <= high * (1 + 1e-9); e++) found.push(2 ** e)
    else
      for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++)
        for (const m of [1, 2, 5]) if (m * 10 ** e >= low * (1 - 1e-9) && m * 10 ** e <= high * (1 + 1e-9)) found.push(m * 10 ** e)
    if (found.length > 8) return found.filter((_, i) => i % Math.ceil(found.length / 8) === 0)
    if (found.length > 2) return found
    const rough = (high - low) / 5
    const power = 10 ** Math.floor(Math.log10(rough))
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough)
    const even = []
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) even.push(v)
    return even
  }

  const tip = make('div', { class: 'tip', role: 'status' })
  tip.hidden = true
  document.body.append(tip)

  const numbers = (text) => text.split(/[ ,]+/).map(Number)
  const isMark = (mark) => mark.tagName === 'circle' || mark.dataset.at !== undefined
  const placeOf = (mark) => (mark.tagName === 'circle' ? ['cx', 'cy'].map((name) => Number(mark.getAttribute(name))) : numbers(mark.dataset.at))
  for (const svg of all('figure > svg[data-box]')) {
    const [left, top, right, bottom] = numbers(svg.dataset.box)
    const [width, height] = [right - left, bottom - top]
    /* What is drawn moves when the view does, and is cut off at the plot's frame, with room for the largest mark. */
    const frameOf = { x: left - 6, y: top - 6, width: width + 12, height: height + 12 }
    const marks = draw('svg', { ...frameOf, viewBox: Object.values(frameOf).join(' ') })
    marks.append(...all('[stroke^="var(--l"], [fill^="var(--l"], [stroke="var(--unit)"]', svg))
    svg.append(marks)
    const ends = { x: numbers(svg.dataset.x), y: svg.dataset.y ? numbers(svg.dataset.y) : undefined }
    const view = { x: [0, 1], y: [0, 1] }
    const at = { x: (px) => left + ((px - left) / width - view.x[0]) / (view.x[1] - view.x[0]) * width, y: (py) => bottom - ((bottom - py) / height - view.y[0]) / (view.y[1] - view.y[0]) * height }
    const original = new Map([...marks.children].map((mark) => [mark, isMark(mark) ? placeOf(mark) : numbers(mark.getAttribute('d').slice(1).replaceAll('L', ' '))]))
    const axes = { x: undefined, y: undefined }
    for (const axis of ['x', 'y']) axes[axis] = { still: all(`[stroke="var(--g${axis})"], [fill="var(--t${axis})"]`, svg), zoomed: draw('g') }
    svg.prepend(axes.x.zoomed, axes.y.zoomed)
    const circles = all('circle, .mark', marks).map((mark) => {
      const title = mark.querySelector('title')
      const text = title ? title.textContent : ''
      if (title) title.remove()
      return { mark, text }
    })

    const value = ([low, high], share) => low * (high / low) ** share
    const drawAxis = (axis) => {
      if (!ends[axis]) return
      const { still, zoomed } = axes[axis]
      const isZoomed = view[axis][1] - view[axis][0] !== 1
      for (const element of still) element.classList.toggle('off', isZoomed)
      zoomed.replaceChildren()
      if (!isZoomed) return
      const kind = svg.dataset[axis === 'x' ? 'kindX' : 'kindY']
      const [low, high] = view[axis].map((share) => value(ends[axis], share))
      for (const tick of ticksOf(low, high, kind)) {
        const share = Math.log(tick / low) / Math.log(high / low)
        const [px, py] = [left + share * width, bottom - share * height].map((px) => px.toFixed(1))
        const line = draw('path', { stroke: `var(--g${axis})`, d: axis === 'x' ? `M${px} ${top}L${px} ${bottom}` : `M${left} ${py}L${right} ${py}` })
        const place = axis === 'x' ? { x: px, y: bottom + 16, 'text-anchor': 'middle' } : { x: left - 8, y: Number(py) + 4, 'text-anchor': 'end' }
        zoomed.append(line, draw('text', { ...place, fill: `var(--t${axis})` }, format(kind, tick)))
      }
    }
    const back = make('button', { type: 'button', class: 'tool back' }, 'Reset zoom')
    back.hidden = true
    svg.parentElement.prepend(back)
    const show = () => {
      for (const [mark, own] of original) {
        const moved = own.map((v, i) => (i % 2 ? at.y(v) : at.x(v)).toFixed(1))
        if (mark.tagName === 'circle') set(mark, { cx: moved[0], cy: moved[1] })
        else if (isMark(mark)) set(mark, { 'data-at': moved.join(','), transform: `matrix(${mark.dataset.r},0,0,${mark.dataset.r},${moved.join(',')})` })
        else set(mark, { d: `M${moved.join(' ')}` })
      }
      drawAxis('x')
      drawAxis('y')
      back.hidden = view.x[1] - view.x[0] === 1 && view.y[1] - view.y[0] === 1
    }
    const reset = () => {
      view.x = [0, 1]
      view.y = [0, 1]
      show()
    }
    back.addEventListener('click', reset)
    svg.addEventListener('dblclick', reset)

    const pointOf = (event) => {
      const box = svg.getBoundingClientRect()
      const [, , w, h] = numbers(svg.getAttribute('viewBox'))
      return [((event.clientX - box.left) / box.width) * w, ((event.clientY - box.top) / box.height) * h]
    }
    const clamp = (v, low, high) => Math.min(high, Math.max(low, v))
    let from
    let frame
    svg.addEventListener('pointerdown', (event) => {
      const [x, y] = pointOf(event)
      if (event.button !== 0 || x < left || x > right || y < top || y > bottom) return
      from = [x, y]
      svg.setPointerCapture(event.pointerId)
      frame = draw('rect', { class: 'zoom' })
      svg.append(frame)
    })
    let near
    const leave = () => {
      if (near) near.mark.classList.remove('near')
      near = undefined
      tip.hidden = true
    }
    svg.addEventListener('pointermove', (event) => {
      const [x, y] = pointOf(event)
      if (from) {
        const [cx, cy] = [clamp(x, left, right), ends.y ? clamp(y, top, bottom) : bottom]
        const y0 = ends.y ? from[1] : top
        set(frame, { x: Math.min(from[0], cx), y: Math.min(y0, cy), width: Math.abs(cx - from[0]), height: Math.abs(cy - y0) })
        return leave()
      }
      let best
      let least = 24
      for (const circle of circles) {
        if (circle.mark.classList.contains('off')) continue
        const [cx, cy] = placeOf(circle.mark)
        if (cx < left - 1 || cx > right + 1 || cy < top - 1 || cy > bottom + 1) continue
        const distance = Math.hypot(cx - x, cy - y)
        if (distance < least) [best, least] = [circle, distance]
      }
      if (best !== near) leave()
      if (!best) return
      near = best
      best.mark.classList.add('near')
      tip.textContent = best.text
      tip.hidden = false
      tip.style.left = `${clamp(event.clientX + 14, 4, innerWidth - tip.offsetWidth - 4)}px`
      tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px`
    })
    svg.addEventListener('pointerleave', leave)
    svg.addEventListener('pointercancel', () => {
      if (frame) frame.remove()
      from = frame = undefined
    })
    svg.addEventListener('pointerup', (event) => {
      if (!from) return
      frame.remove()
      const [x, y] = pointOf(event)
      const narrowed = (axis, a, b) => {
        const [low, high] = view[axis]
        const shares = [a, b].map((v) => clamp(axis === 'x' ? (v - left) / width : (bottom - v) / height, 0, 1)).sort((p, q) => p - q)
        view[axis] = shares.map((share) => low + share * (high - low))
      }
      /* A drag of a few pixels is a click. */
      const wide = Math.abs(x - from[0]) > 8
      const tall = ends.y && Math.abs(y - from[1]) > 8
      if (wide) narrowed('x', from[0], x)
      if (tall) narrowed('y', from[1], y)
      from = frame = undefined
      if (wide || tall) show()
    })
  }

  /* Paper has nothing to click: what is folded in is printed. */
  window.addEventListener('beforeprint', () => all('details').forEach((folded) => (folded.open = true)))

  for (const section of all('section.charted')) {
    for (const item of all('.legend li', section)) {
      item.setAttribute('role', 'button')
      item.setAttribute('aria-pressed', 'true')
      item.title = 'Show or hide'
      press(item, () => {
        const off = item.classList.toggle('off')
        item.setAttribute('aria-pressed', String(!off))
        const color = `var(--l${item.dataset.line})`
        for (const mark of all(`[stroke="${color}"], [fill="${color}"]`, section)) mark.classList.toggle('off', off)
      })
    }
  }

  for (const table of all('table.data')) {
    const body = table.tBodies[0]
    const rows = [...body.rows]
    const heads = [...table.tHead.rows[0].cells]
    const keys = (row, i) => {
      const cell = row.cells[i]
      return heads[i].classList.contains('n') ? (cell.dataset.v === undefined ? NaN : Number(cell.dataset.v)) : cell.textContent
    }
    const order = (a, b) => {
      if (typeof a === 'string') return a.localeCompare(b, 'en', { numeric: true })
      /* What has no number comes last in either direction. */
      return a - b
    }
    heads.forEach((head, i) => {
      head.title = 'Sort'
      press(head, () => {
        const next = { none: 'ascending', ascending: 'descending', descending: 'none' }[head.getAttribute('aria-sort') || 'none']
        for (const other of heads) other.removeAttribute('aria-sort')
        if (next !== 'none') head.setAttribute('aria-sort', next)
        const sign = next === 'descending' ? -1 : 1
        const sorted = next === 'none' ? rows : [...rows].sort((a, b) => {
          const [x, y] = [keys(a, i), keys(b, i)]
          const [noX, noY] = [Number.isNaN(x), Number.isNaN(y)]
          return noX || noY ? Number(noX) - Number(noY) : sign * order(x, y)
        })
        body.append(...sorted)
      })
    })
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(' ').toLowerCase())
    const filter = make('input', { type: 'search', class: 'tool filter', placeholder: 'Filter rows', 'aria-label': `Filter rows of ${table.getAttribute('aria-label')}` })
    const count = make('span', { class: 'muted count', 'aria-live': 'polite' })
    filter.addEventListener('input', () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
      let shown = 0
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word))
        if (!row.hidden) shown++
      })
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : ''
    })
    if (rows.length > 1) table.parentElement.before(filter, count)
  }
})()

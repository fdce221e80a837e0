"""A bar chart as SVG: groups of horizontal bars on a logarithmic axis."""
import html
import math

COLOURS = ["#1b5e9b", "#63a4d8", "#d98c2b", "#8a8f98", "#5f9e6e", "#c4c8ce", "#b3d3bb"]
LEFT, WIDTH, RIGHT, BAR, GAP, TOP = 80, 720, 60, 11, 14, 86


def bars(title, groups, series):
    """`series` is a list of (name, value per group); a value of None or 0 has no bar."""
    values = [value for _, row in series for value in row if value]
    low = 10 ** math.floor(math.log10(min(values)))
    high = 10 ** math.ceil(math.log10(max(values)))
    group_height = BAR * len(series) + GAP
    height = TOP + group_height * len(groups) + 30

    def x(value):
        return LEFT + WIDTH * math.log(value / low) / math.log(high / low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + RIGHT}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{html.escape(title)}</text>',
    ]
    at, line = LEFT, 32
    for i, (name, _) in enumerate(series):
        if at + 30 + 6 * len(name) > LEFT + WIDTH + RIGHT:
            at, line = LEFT, line + 16
        out.append(f'<rect x="{at}" y="{line}" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>'
                   f'<text x="{at + 14}" y="{line + 9}">{html.escape(name)}</text>')
        at += 30 + 6 * len(name)
    tick = low
    while tick <= high:
        out.append(f'<line x1="{x(tick):.1f}" y1="{TOP - 8}" x2="{x(tick):.1f}" y2="{height - 24}" stroke="#ddd"/>'
                   f'<text x="{x(tick):.1f}" y="{height - 10}" text-anchor="middle">{tick:,}</text>')
        tick *= 10
    for g, group in enumerate(groups):
        y = TOP + g * group_height
        out.append(f'<text x="{LEFT - 8}" y="{y + BAR * len(series) / 2 + 4:.1f}" text-anchor="end">'
                   f'{html.escape(group)}</text>')
        for i, (_, row) in enumerate(series):
            if not row[g]:
                continue
            top = y + i * BAR
            out.append(f'<rect x="{LEFT}" y="{top}" width="{max(x(row[g]) - LEFT, 1):.1f}" height="{BAR - 2}" '
                       f'fill="{COLOURS[i % len(COLOURS)]}"/>'
                       f'<text x="{x(row[g]) + 4:.1f}" y="{top + 8}" font-size="9">{row[g]:,.0f}</text>')
    out.append("</svg>\n")
    return "\n".join(out)

"""Pictures of the pages: SVG in light colours, and in others if a reader prefers dark ones."""

from __future__ import annotations

FIRST, SECOND, INK, FAINT = "#2f6db3", "#c4662a", "#333333", "#b8b8b8"
PAPER, WIDE = "white", 600  # not wider, so that the words can be read on a telephone
DARK = {FIRST: "#6ea8e8", SECOND: "#e8935c", INK: "#d6d6d6", FAINT: "#5c5f66", PAPER: "#16181d"}


class Picture:
    """An SVG with y upwards inside of panels, and text where it is wanted."""

    def __init__(self, width: float, height: float, paper: str = PAPER) -> None:
        self.width, self.height, self.paper = width, height, paper
        self.parts: list[str] = []

    def line(self, a, b, colour=INK, width=1.5, dash="", arrow=False) -> None:
        """Draw a line from a to b, with a head if it is an arrow."""
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(
            f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" '
            f'stroke="{colour}" stroke-width="{width}"{extra}/>'
        )

    def arc(self, a, b, bulge, colour=INK, width=1.5) -> None:
        """Draw an arrow from a to b that swings out to the right."""
        self.parts.append(
            f'<path d="M{a[0]:.1f},{a[1]:.1f} C{a[0] + bulge:.1f},{a[1]:.1f} '
            f'{b[0] + bulge:.1f},{b[1]:.1f} {b[0]:.1f},{b[1]:.1f}" fill="none" '
            f'stroke="{colour}" stroke-width="{width}" marker-end="url(#head)"/>'
        )

    def rectangle(self, corner, size, colour, fill=0.25, dash="", width=1) -> None:
        """Draw a box by its upper left corner."""
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        extra += f' stroke-width="{width}"' if width != 1 else ""
        self.parts.append(
            f'<rect x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{size[0]:.1f}" '
            f'height="{size[1]:.1f}" fill="{colour}" fill-opacity="{fill}" '
            f'stroke="{colour}"{extra}/>'
        )

    def dot(self, at, colour=INK, filled=True) -> None:
        """Draw a dot, or a ring."""
        self.parts.append(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4.5" stroke="{colour}" '
            f'stroke-width="1.5" fill="{colour if filled else PAPER}"/>'
        )

    def ring(self, centre, radius, colour=INK) -> None:
        """Draw a dashed circle."""
        self.parts.append(
            f'<circle cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius:.1f}" fill="none" '
            f'stroke="{colour}" stroke-dasharray="2 3"/>'
        )

    def text(self, at, words, colour=INK, size=14, anchor="middle") -> None:
        """Write words with their baseline at a place."""
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="{colour}" font-size="{size}" '
            f'text-anchor="{anchor}">{words}</text>'
        )

    def __str__(self) -> str:
        dark = "".join(
            f' [fill="{light}"] {{fill: {colour}}} [stroke="{light}"] {{stroke: {colour}}}'
            for light, colour in DARK.items()
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" '
                'font-family="DejaVu Sans, Verdana, sans-serif">',
                '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" '
                f'orient="auto"><path d="M0,0 L7,3 L0,6 z" fill="{INK}"/></marker></defs>',
                f"<style>@media (prefers-color-scheme: dark) {{{dark} }}</style>",
                f'<rect width="100%" height="100%" rx="4" fill="{self.paper}"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


class Panel:
    """A part of a picture with world units of its own, y upwards."""

    def __init__(self, picture: Picture, origin, scale) -> None:
        self.picture, self.origin, self.scale = picture, origin, scale

    def at(self, point):
        """Return where a point of the world is in the picture."""
        return self.origin[0] + point[0] * self.scale, self.origin[1] - point[1] * self.scale

    def box(self, centre, half, colour, fill=0.25, dash="", width=1) -> None:
        """Draw a box of the world."""
        corner = self.at((centre[0] - half[0], centre[1] + half[1]))
        size = (2 * half[0] * self.scale, 2 * half[1] * self.scale)
        self.picture.rectangle(corner, size, colour, fill, dash, width)

    def arrow(self, start, end) -> None:
        """Draw an arrow between two points of the world."""
        self.picture.line(self.at(start), self.at(end), arrow=True)

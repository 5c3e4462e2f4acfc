"""A window that plays back a recorded run, with the arrow keys to move through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from demos.app.replay import Player
from demos.app.window import FRAMES_A_TEXT, Screen

if TYPE_CHECKING:
    from demos.app.painter import Recorder

SECOND = 60  # steps
DELAY = 20  # frames for which an arrow is held until it repeats
KEYS = "space: play   arrows: go   shift: a second"


class ReplayScreen(Screen):
    """A screen that shows a player's scene.

    Attributes
    ----------
    player : Player
    is_playing : bool
        Whether it plays on.
    """

    def __init__(self, player: Player, visible: bool = True) -> None:
        self.player = player
        self.is_playing = False
        super().__init__(player.scene, visible)
        self._n_held = 0

    def seek(self, position: int) -> None:
        """Go to a step, and show it."""
        self.player.seek(position)
        if self.player.scene is not self.scene:  # built again
            self.scene = self.player.scene
            self.overlay.space = self.scene.space
            self._backdrop = self.scene.backdrop()

    def text(self) -> str:
        """Return the position, and whether the run is as recorded."""
        player = self.player
        state = "" if self.is_playing else "   PAUSED"
        return f"step {player.position} of {player.n_steps}{state}: {player.verdict()}"

    def keys_in_words(self) -> str:
        """Return the position, and the keys of a replay, for the title of the window."""
        return f"{self.text()}   {KEYS}"

    def draw(self) -> None:
        """Draw the scene, and say in the title of the window which step it is."""
        super().draw()
        if not self.is_playing or self._n_frames % FRAMES_A_TEXT == 0:
            self.announce_keys()

    def press(self, symbol: int, modifiers: int) -> None:
        """Handle a key: go to another step, or play."""
        from pyglet.window import key

        player = self.player
        by = SECOND if modifiers & key.MOD_SHIFT else 1
        ways = {key.LEFT: -by, key.RIGHT: by, key.DOWN: -SECOND, key.UP: SECOND}
        if symbol in ways:
            self.is_playing, self._n_held = False, 0
            self.seek(player.position + ways[symbol])
        elif symbol in (key.HOME, key.END):
            self.is_playing = False
            self.seek(0 if symbol == key.HOME else player.n_steps)
        elif symbol == key.SPACE:
            if not self.is_playing and player.position == player.n_steps:
                self.seek(0)
            self.is_playing = not self.is_playing

    def read_keys(self) -> None:
        """Do nothing: the scene gets the recorded keys."""

    def advance(self) -> None:
        """Advance by a frame: play on, or follow an arrow that is held."""
        from pyglet.window import key

        if self.is_playing:
            self.player.step()
            self.is_playing = self.player.position < self.player.n_steps
            return
        held = self._keys[key.RIGHT] - self._keys[key.LEFT]
        self._n_held = self._n_held + 1 if held else 0
        if self._n_held > DELAY:
            by = SECOND // 4 if self._keys[key.LSHIFT] or self._keys[key.RSHIFT] else 1
            self.seek(self.player.position + held * by)

    def run(
        self,
        seconds: float | None = None,
        recorder: Recorder | None = None,
        step: Callable[[], None] | None = None,
    ) -> None:
        """Show the run until the window is closed."""
        self.is_playing = True
        super().run(seconds, recorder, step or self.advance)

"""Learns a board game from games that two processes play against themselves."""

import argparse
import multiprocessing as mp
import random
import time

import numpy as np
import torch
from torch import nn

SIDE = 13


def liberties(board, place):
    """Of the group of stones at a place: what it can still grow into."""
    colour, group, free, waiting = board[place], {place}, set(), [place]
    while waiting:
        row, column = waiting.pop()
        for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            stone = board.get(near)
            if stone == 0:
                free.add(near)
            elif stone == colour and near not in group:
                group.add(near)
                waiting.append(near)
    return len(free)


def play(positions, seed, rows):
    draw = random.Random(seed)
    fields = [(r, c) for r in range(SIDE) for c in range(SIDE)]
    while True:
        batch = np.zeros((rows, 3, SIDE, SIDE), np.float32)
        for planes in batch:
            board = dict.fromkeys(fields, 0)
            for place in draw.sample(fields, 60):
                board[place] = draw.choice((-1, 1))
            for place in fields:
                planes[1 + board[place], place[0], place[1]] = 1 + liberties(board, place)
        positions.put(batch)


class Tower(nn.Module):
    def __init__(self, width=192, depth=15):
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.ModuleList(
            nn.Sequential(
                *[nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()],
                *[nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)],
            )
            for _ in range(depth)
        )
        self.move, self.winner = nn.Conv2d(width, 1, 1), nn.Linear(width, 1)

    def forward(self, x):
        x = self.enter(x)
        for block in self.body:
            x = (x + block(x)).relu()
        return self.move(x).flatten(1), self.winner(x.mean((2, 3))).tanh()


def learn(positions, seconds):
    net = Tower().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    step, until = 0, time.time() + seconds
    while time.time() < until:
        boards = torch.from_numpy(positions.get()).cuda()
        moves, winner = net(boards)
        loss = winner.square().mean() - moves.log_softmax(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print("step", step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    games = mp.Queue(maxsize=8)
    players = [mp.Process(target=play, args=(games, i, 48), daemon=True) for i in range(2)]
    for player in players:
        player.start()
    learn(games, options.seconds)
    for player in players:
        player.kill()

# Greenlets that change from within callbacks of C code, so that their stacks are copied away and back
# with calls open on them.
import greenlet


def deeper(n, parent):
    if n == 0:
        return parent.switch(1)
    return sorted([3, 1, 2], key=lambda x: (deeper(n - 1, parent) if x == 1 else x, x)[1])[0]


total = 0


def work(i):
    global total
    for _ in range(3):
        deeper(4, main)
        total += i


main = greenlet.getcurrent()
greenlets = [greenlet.greenlet(work) for _ in range(20)]
switches = 0
while not all(g.dead for g in greenlets):
    for i, g in enumerate(greenlets):
        if not g.dead:
            g.switch(i)
            switches += 1
print(total, switches)

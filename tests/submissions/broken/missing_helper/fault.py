from helpers import spread

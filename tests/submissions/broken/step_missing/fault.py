advance = step
del step

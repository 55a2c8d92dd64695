# El Niño

# EXITED
import asyncio
async def main():
    reader, writer = await asyncio.open_connection("127.0.0.1", outside["tcp"])
async def local():
    await asyncio.open_unix_connection(outside["unix"])
async def spawn():
    await asyncio.create_subprocess_exec("/bin/true")
for deed in (main, local, spawn):
    refused(lambda: asyncio.run(deed()))
print("held")
